/** Lets every promise that is ready run, by one turn of the event loop. */
export declare function settle(): Promise<void>
/**
 * Resolves as soon as `holds` returns true; it is asked every 5 ms.
 *
 * @throws {Error} naming `what`, after 30 s
 */
export declare function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>
