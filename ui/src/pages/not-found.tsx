import { Link } from "react-router-dom";

import { Notice, PageHead } from "../components/parts";
import { useTitle } from "../lib/hooks";

export default function NotFound() {
  useTitle("Page not found");
  return (
    <>
      <PageHead title="Page not found" />
      <Notice>
        There is no such page. <Link to="/">Go to the dashboard</Link>
      </Notice>
    </>
  );
}
