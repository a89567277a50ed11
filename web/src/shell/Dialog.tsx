import { type ReactNode, useEffect, useRef } from "react";

/** A modal dialog of the browser: it keeps the focus inside, and gives it back. */
export function Dialog({
  title,
  onClose,
  wide = false,
  bare = false,
  children,
}: {
  title: string;
  onClose(): void;
  wide?: boolean;
  bare?: boolean;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    // A closed dialog takes no focus, so a field cannot ask for it before.
    element?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={`${wide ? "wide" : ""} ${bare ? "bare" : ""}`}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => event.target === dialog.current && onClose()}
    >
      <div className="dialog-body">
        {!bare && (
          <header>
            <h2>{title}</h2>
            <button type="button" className="quiet" aria-label="close" onClick={onClose}>
              ×
            </button>
          </header>
        )}
        {children}
      </div>
    </dialog>
  );
}
