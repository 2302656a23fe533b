// What is wrong with a cluster, in words (ui.md 3, 6.1, 6.11).
import type { ClusterGroup, ClusterNode } from "../api/types";
import { latency } from "./format";

/** Good if the server reports that it is healthy. Without a status, if it is a leader or follower (ui.md 3). */
export function healthOf(status: ClusterGroup | undefined): { text: string; good: boolean } {
  const state = status?.state?.toLowerCase();
  const good = status?.status === undefined ? state === "leader" || state === "follower" : status.status === "healthy";
  return { text: status?.status ?? (good ? "healthy" : (status?.state ?? "unknown")), good };
}

/** True if the node that answered cannot reach this one. A node that has just started knows nothing of the others yet. */
export const isSilent = (node: ClusterNode): boolean =>
  node.status === "unreachable" ||
  (node.status === "unknown" && (node.last_contact_ms !== undefined || node.error !== undefined));

/** When the node was last heard from. */
export const lastContact = ({ last_contact_ms: ms }: ClusterNode): string =>
  ms === undefined ? "no contact since this node started" : `last contact ${latency(ms)} ago`;

export interface Fault {
  /** Two or three words, for the header. */
  short: string;
  text: string;
}

function noLeader(nodes: readonly ClusterNode[]): Fault {
  const voters = nodes.filter((node) => node.voter === true);
  const there = voters.filter((node) => node.self === true || node.status === "healthy").length;
  const needed = Math.floor(voters.length / 2) + 1;
  const text = "No leader: writes are not accepted.";
  if (there >= needed) {
    return { short: "no leader", text: `${text} The nodes are electing one.` };
  }
  const reached = voters.some(isSilent) ? `Only ${there} of ${voters.length} voting nodes can be reached; ${needed} are needed.` : "";
  return { short: "no leader", text: `${text} ${reached}`.trim() };
}

/** Why this node cannot do its work, if so. */
export function faultOf(group: ClusterGroup | undefined): Fault | null {
  if (group?.removed === true) {
    return { short: "removed", text: "This node was removed from the cluster. It accepts no writes, and its data is out of date." };
  }
  if (group?.quarantined === true) {
    return { short: "quarantined", text: "The data of this node differs from the majority. Use another node." };
  }
  // A server without a cluster has no leader to name.
  return group?.leader_id === "" ? noLeader(group.nodes ?? []) : null;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  degraded: "is low on disk space",
  differs: "has data that differs from the majority",
  quarantined: "has data that differs from the majority and is quarantined",
  removed: "was removed from the cluster but is still running",
  outdated: "runs a version that cannot read the leader's messages",
};

/** What is wrong with a node, as the rest of a sentence that begins with its name. */
export const problemOf = (node: ClusterNode): string | undefined =>
  isSilent(node) ? `cannot be reached (${lastContact(node)})` : PROBLEMS[node.status ?? ""];
