import { JobList } from "../components/job-list";
import { PageHead } from "../components/parts";
import { NO_FILTERS, type Filters } from "../lib/filters";
import { useTitle } from "../lib/hooks";

const DEFAULTS: Filters = { ...NO_FILTERS, state: ["scheduled"] };

export default function Scheduled() {
  useTitle("Scheduled Jobs");
  return (
    <>
      <PageHead title="Scheduled Jobs" />
      <JobList defaults={DEFAULTS} title="Scheduled Jobs" fileName="scheduled-jobs" fixedState runsIn showQueue />
    </>
  );
}
