/** How a browser is started. */
export interface BrowserProgram {
  readonly executablePath: string
  /** Environment variables beside those of this process. */
  readonly env: Readonly<Record<string, string>>
}
/**
 * Unpacks it once per version, below `parent`; safe in several processes at once, as a complete folder
 * takes its place in one step.
 *
 * @throws {Error} on another system than Linux on x64, or when the package is not installed.
 */
export declare function unpackChromium(parent?: string): Promise<BrowserProgram>
