import type { Browser } from 'playwright-core'
/**
 * Starts a browser; whoever asks for it closes it.
 *
 * @throws {Error} when no browser starts, with what was tried and what to install.
 */
export declare function launchBrowser(): Promise<Browser>
