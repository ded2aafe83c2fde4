/** The User-Agent of requests. Services such as GitHub refuse requests without one. */

// Part of each bundle: a program that contains this package does not have its folder.
import manifest from '../../package.json' with { type: 'json' }

/** `tutti/VERSION`, with the version of this package. */
export const DEFAULT_USER_AGENT = `tutti/${manifest.version}`
