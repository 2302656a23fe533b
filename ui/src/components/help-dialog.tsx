import { Dialog } from "./dialog";
import { Button } from "./parts";

const KEYS: [string[], string][] = [
  [["?"], "Show this help"],
  [["Ctrl-K"], "Go to a page, queue, worker, schedule or job, or run an action"],
  [["Ctrl-V"], "Open the job whose ID is in the clipboard"],
  [["/"], "Search payloads (on pages with a search panel)"],
  [["j", "k"], "Next or previous job in a table"],
  [["Enter"], "Open the selected job"],
  [["Escape"], "Close a dialog"],
];

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div className="keys">
        {KEYS.map(([keys, text]) => (
          <div key={text} style={{ display: "contents" }}>
            <span>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </span>
            <span>{text}</span>
          </div>
        ))}
      </div>
      <div className="dialog-foot">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
