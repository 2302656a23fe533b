import { JobList } from "../components/job-list";
import { PageHead } from "../components/parts";
import { NO_FILTERS, type Filters } from "../lib/filters";
import { useTitle } from "../lib/hooks";

const DEFAULTS: Filters = { ...NO_FILTERS, state: ["dead"] };

export default function DeadLetter() {
  useTitle("Dead Letter Queue");
  return (
    <>
      <PageHead title="Dead Letter Queue" />
      <JobList defaults={DEFAULTS} title="Dead Jobs" fileName="dead-jobs" fixedState showQueue showError />
    </>
  );
}
