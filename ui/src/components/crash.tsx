import { Component, type ReactNode } from "react";

import { messageOf } from "../api/client";
import { Button } from "./parts";

/** Shows the error if a page fails to render. The rest of the interface keeps working. */
export class Crash extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) {
      return this.props.children;
    }
    return (
      <div className="notice bad stack" role="alert">
        <p>This page could not be shown: {messageOf(this.state.error)}</p>
        <p>
          <Button onClick={() => window.location.reload()}>Reload</Button>
        </p>
      </div>
    );
  }
}
