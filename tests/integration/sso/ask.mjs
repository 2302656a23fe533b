// Send each request from a different address, because the server limits wrong credentials per address.
import { request } from "node:http";

let count = 0;

/** Send a request. A string body is sent unchanged, anything else as JSON. With `head`, waits only for the status and
 *  headers of the response. */
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
    sent.on("error", failed); // no effect after done
    sent.end(body === undefined || typeof body === "string" ? body : JSON.stringify(body));
  });
}
