/**
 * Random secrets that every process on a store shares.
 *
 * RUNS-Y1 A secret is created by the first call that asks for its name. Every later call returns the same value, in
 *    every process and after a restart.
 */

/** Creates and returns random secrets by name. */
export interface SecretStore {
  /** Returns the secret called `name`: 32 random bytes in base64url. */
  get(name: string): Promise<string>
}
