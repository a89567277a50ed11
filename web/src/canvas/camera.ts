// What keys and menus may do to the view; the canvas fills it in while it is there.

export const camera = {
  fit: () => {},
  zoomBy: (_factor: number) => {},
  zoomTo: (_zoom: number) => {},
  center: () => ({ x: 0, y: 0 }),
};
