/** To the clipboard, also where the page came over plain HTTP and the modern way is shut. */
export async function copyText(text: string): Promise<void> {
  if ("clipboard" in navigator) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  document.execCommand("copy");
  area.remove();
}
