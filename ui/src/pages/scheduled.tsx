import { JobList } from "../components/job-list";
import { PageHead } from "../components/parts";
import { SCHEDULED } from "../lib/filters";
import { useTitle } from "../lib/hooks";

export default function Scheduled() {
  useTitle("Scheduled Jobs");
  return (
    <>
      <PageHead title="Scheduled Jobs" />
      <JobList defaults={SCHEDULED} title="Scheduled Jobs" fileName="scheduled-jobs" fixedState runsIn showQueue />
    </>
  );
}
