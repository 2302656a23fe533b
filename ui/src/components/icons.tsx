// Line icons on a grid of 24, drawn for this interface.
const PATHS = {
  dashboard: "M4 13h7V4H4zM13 20h7v-9h-7zM4 20h7v-4H4zM13 8h7V4h-7z",
  queues: "M4 6h16M4 12h16M4 18h10",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
  repeat: "M17 2l4 4-4 4M3 11V9a3 3 0 0 1 3-3h15M7 22l-4-4 4-4M21 13v2a3 3 0 0 1-3 3H3",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5",
  alert: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 8v5M12 16h.01",
  dead: "M12 9v4M12 17h.01M10.3 4 2.5 18a2 2 0 0 0 1.7 3h15.6a2 2 0 0 0 1.7-3L13.7 4a2 2 0 0 0-3.4 0z",
  held: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  tail: "M3 12h4l3-8 4 16 3-8h4",
  cost: "M12 3v18M16.5 7.5C16 6 14.300 5.500 12 5.500c-2.500 0-4.300 1-4.300 3 0 4.500 9 2 9 6.500 0 2-2 3.500-4.700 3.500-2.400 0-4.300-.8-4.700-2.500",
  workers: "M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01",
  cluster: "M12 8a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM5 21a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM19 21a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM11 8l-5 8M13 8l5 8M8 18.500h8",
  key: "M15.500 13a5.500 5.500 0 1 0-5.100-3.400L3 17v4h4v-2.500h2.500V16h2l1.400-1.500a5.500 5.500 0 0 0 2.600-1.500zM16.500 7.500h.01",
  folder: "M3 7a2 2 0 0 1 2-2h4l2 2.500h8a2 2 0 0 1 2 2V17a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z",
  people: "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2.500 20c.5-3.500 3-5.500 6.500-5.500s6 2 6.500 5.500M16 4.300a3.500 3.500 0 0 1 0 6.400M18 15c2 .8 3.200 2.500 3.500 5",
  log: "M6 3h9l4 4v14H6zM14.500 3v4.500H19M9 12h7M9 16h7",
  building: "M5 21V4h9v17M14 9h5v12M3 21h18M8 8h3M8 12h3M8 16h3",
  calendar: "M4 6h16v14H4zM4 10.500h16M8.500 3.500V7M15.500 3.500V7",
  hook: "M9 17a4 4 0 1 1-4-4M15 9a4 4 0 1 0-5 2l-3 6M13 7l4 7a4 4 0 1 1-2 5",
  shield: "M12 3l7.500 3v5.500c0 4.500-3 8-7.500 9.500-4.500-1.500-7.500-5-7.500-9.500V6zM8.500 12l2.500 2.500 4.500-5",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.500 1.500M17.500 17.500 19 19M19 5l-1.500 1.500M6.500 17.500 5 19",
  moon: "M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500z",
  menu: "M4 6h16M4 12h16M4 18h16",
  help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.500 9.500a2.500 2.500 0 1 1 3.500 2.300c-.7.3-1 .8-1 1.700M12 17h.01",
  pause: "M8 5v14M16 5v14",
  play: "M7 5l12 7-12 7z",
  close: "M6 6l12 12M18 6 6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
