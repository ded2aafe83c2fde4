/** Finds one. */
export declare function freePort(): Promise<number>;
