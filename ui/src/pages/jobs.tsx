import { JobList } from "../components/job-list";
import { PageHead } from "../components/parts";
import { NO_FILTERS } from "../lib/filters";
import { useTitle } from "../lib/hooks";

export default function Jobs() {
  useTitle("Jobs");
  return (
    <>
      <PageHead title="Jobs" />
      <JobList defaults={NO_FILTERS} title="Jobs" fileName="jobs" showQueue />
    </>
  );
}
