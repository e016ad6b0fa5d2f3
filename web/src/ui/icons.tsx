import type { ReactNode } from "react";

function Icon({ children, size = 22, width = 1.8 }: { children: ReactNode; size?: number; width?: number }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={width}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className="shrink-0"
    >
      {children}
    </svg>
  );
}

export const HomeIcon = () => (
  <Icon>
    <path d="M4 11 12 4l8 7v8a1 1 0 0 1-1 1h-4v-6H9v6H5a1 1 0 0 1-1-1z" />
  </Icon>
);

export const PeopleIcon = () => (
  <Icon>
    <circle cx="9" cy="8" r="3.5" />
    <path d="M2.5 20c.6-4 3.2-6 6.5-6s5.9 2 6.5 6M16 4.8a3.5 3.5 0 0 1 0 6.4M18 14.5c2 .9 3.2 2.8 3.5 5.5" />
  </Icon>
);

export const PersonIcon = () => (
  <Icon>
    <circle cx="12" cy="8" r="4" />
    <path d="M4.5 20.5c.7-4.3 3.6-6.5 7.5-6.5s6.8 2.2 7.5 6.5" />
  </Icon>
);

export const FindIcon = () => (
  <Icon>
    <circle cx="11" cy="11" r="6.5" />
    <path d="m16 16 4.5 4.5" />
  </Icon>
);

export const GearIcon = () => (
  <Icon>
    <path d="M4 7h9M17 7h3M4 17h3M11 17h9" />
    <circle cx="15" cy="7" r="2" />
    <circle cx="9" cy="17" r="2" />
  </Icon>
);

export const UpIcon = ({ size }: { size?: number }) => (
  <Icon {...(size !== undefined && { size })}>
    <path d="M12 19V5M6 11l6-6 6 6" />
  </Icon>
);

export const TrashIcon = () => (
  <Icon size={18}>
    <path d="M4.5 7h15M9.5 7V4.5h5V7M6.5 7l1 13h9l1-13M10.5 11v5.5M13.5 11v5.5" />
  </Icon>
);

export const ReplyIcon = () => (
  <Icon size={18}>
    <path d="M20.5 11.5a7.5 7 0 0 1-11 6.2L4 19.5l1.6-4.3a6.6 6.6 0 0 1-1.1-3.7 8 7 0 0 1 16 0z" />
  </Icon>
);

export const QuoteIcon = () => (
  <Icon size={18}>
    <path d="M4.5 17.5v-5.2a5.6 5.6 0 0 1 4.8-5.6M4.5 12.5h5v5h-5zM14 17.5v-5.2a5.6 5.6 0 0 1 4.8-5.6M14 12.5h5v5h-5z" />
  </Icon>
);

export const RepostIcon = ({ strong = false, size = 18 }: { strong?: boolean; size?: number }) => (
  <Icon size={size} width={strong ? 2.6 : 1.8}>
    <path d="m3.5 9 3-3 3 3M6.5 6.5v9A2.5 2.5 0 0 0 9 18h4M20.5 15l-3 3-3-3M17.5 17.5v-9A2.5 2.5 0 0 0 15 6h-4" />
  </Icon>
);

export const MoreIcon = () => (
  <Icon>
    <path d="M5.5 12h.01M12 12h.01M18.5 12h.01" strokeWidth="2.6" />
  </Icon>
);

export const CloseIcon = () => (
  <Icon size={18}>
    <path d="m6 6 12 12M18 6 6 18" />
  </Icon>
);

export const HeartIcon = ({ filled = false }: { filled?: boolean }) => (
  <Icon size={18}>
    <path d="M12 20C7 16.5 3.5 13.3 3.5 9.3A4.6 4.6 0 0 1 12 6.8a4.6 4.6 0 0 1 8.5 2.5c0 4-3.5 7.2-8.5 10.7z" fill={filled ? "currentColor" : "none"} />
  </Icon>
);

export const SunIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 2.5v2.5M12 19v2.5M2.5 12H5M19 12h2.5M5.3 5.3 7 7M17 17l1.7 1.7M5.3 18.7 7 17M17 7l1.7-1.7" />
  </Icon>
);

export const MoonIcon = () => (
  <Icon>
    <path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5" />
  </Icon>
);

export const SystemIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M12 3.5a8.5 8.5 0 0 1 0 17z" fill="currentColor" />
  </Icon>
);

export const ListIcon = () => (
  <Icon>
    <path d="M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01" />
  </Icon>
);

export const AtIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="3.8" />
    <path d="M15.8 8.2v5a2.6 2.6 0 0 0 5.2 0V12a9 9 0 1 0-3.6 7.2" />
  </Icon>
);

export const PenIcon = () => (
  <Icon size={24}>
    <path d="m4 20 1-4L16.5 4.5a2.1 2.1 0 0 1 3 3L8 19z" />
  </Icon>
);
