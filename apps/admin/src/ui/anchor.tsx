import { createContext, type AnchorHTMLAttributes, type MouseEvent, type ReactNode, useContext } from 'react';

/** How a click on an inner link is followed. Given once by the app, so that blocks know no router. */
const Follow = createContext<((href: string) => void) | null>(null);
export const FollowProvider = Follow.Provider;

/** Goes to an inner address without a page load. */
export function useFollow(): (href: string) => void {
  const follow = useContext(Follow);
  return follow ?? ((href) => location.assign(href));
}

/** A link. Plain clicks are followed in place; modified clicks and middle clicks stay the browser's. */
export function Anchor({
  href,
  children,
  ...rest
}: { href: string; children?: ReactNode } & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'>) {
  const follow = useContext(Follow);
  const onClick = (event: MouseEvent<HTMLAnchorElement>): void => {
    rest.onClick?.(event);
    if (!follow || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    follow(href);
  };
  return (
    <a {...rest} href={href} onClick={onClick}>
      {children}
    </a>
  );
}
