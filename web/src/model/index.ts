// The graph model of the editor: documents, commands and their history. It knows nothing of React or of a browser.

export * from "./align";
export * from "./apply";
export * from "./catalogue";
export * from "./commands";
export * from "./completion";
export * from "./connections";
export * from "./difference";
export * from "./document";
export * from "./form";
export * from "./history";
export * from "./items";
export * from "./paste";
export * from "./problems";
export * from "./python";
export * from "./quality";
export * from "./refs";
export * from "./search";
export * from "./travel";
export * from "./view";
export * from "./yaml";
