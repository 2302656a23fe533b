// One request from an address of its own: the server listens less and less to one that guesses.
import { request } from "node:http";

let count = 0;

/** A body that is text is sent as it is, anything else as JSON; with `head` only that of the answer is waited for. */
export function ask(url, method = "GET", headers = {}, body = undefined, { head = false } = {}) {
  count += 1;
  const localAddress = `127.1.${Math.floor(count / 200)}.${(count % 200) + 1}`;
  return new Promise((done, failed) => {
    const sent = request(url, {
      method,
      localAddress,
      agent: false,
      headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    }, (response) => {
      if (head) {
        done({ status: response.statusCode, headers: response.headers });
        sent.destroy();
        return;
      }
      const pieces = [];
      response.on("data", (piece) => pieces.push(piece));
      response.on("end", () => {
        const text = Buffer.concat(pieces).toString();
        const json = (response.headers["content-type"] ?? "").startsWith("application/json");
        done({ status: response.statusCode, headers: response.headers, body: json ? JSON.parse(text) : text });
      });
    });
    sent.on("error", failed); // after done it changes nothing
    sent.end(body === undefined || typeof body === "string" ? body : JSON.stringify(body));
  });
}
