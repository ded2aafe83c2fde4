/** Pure: the supported package managers, and their equivalents of npm commands. */

/** Commands of a package manager. */
interface PackageManagerCommands {
  /** Adds a package. */
  readonly add: string
  /** Runs a program of the project. */
  readonly exec: string
  /** Runs the script "test". */
  readonly test: string
  /** Name of the lock file. */
  readonly lockFile: string
  /** Installs the locked production dependencies in a container image. */
  readonly installInImage: string
}

const COMMANDS = {
  npm: {
    add: 'npm install',
    exec: 'npx',
    test: 'npm test',
    lockFile: 'package-lock.json',
    installInImage: 'npm ci --omit=dev',
  },
  pnpm: {
    add: 'pnpm add',
    exec: 'pnpm exec',
    test: 'pnpm test',
    lockFile: 'pnpm-lock.yaml',
    installInImage: 'npx --yes pnpm install --prod --frozen-lockfile',
  },
  yarn: {
    add: 'yarn add',
    exec: 'yarn run',
    test: 'yarn test',
    lockFile: 'yarn.lock',
    installInImage: 'yarn install --production --frozen-lockfile',
  },
  bun: {
    add: 'bun add',
    exec: 'bunx',
    // "bun test" would start Bun's own test runner.
    test: 'bun run test',
    lockFile: 'bun.lock',
    installInImage: 'npx --yes bun install --production --frozen-lockfile',
  },
} as const satisfies Record<string, PackageManagerCommands>

/** A supported package manager. */
export type PackageManager = keyof typeof COMMANDS

/** All supported package managers, npm first. */
export const PACKAGE_MANAGERS: readonly PackageManager[] = ['npm', 'pnpm', 'yarn', 'bun']

/** Returns the package manager that started this process, by its user agent; npm when there is none. */
export function detectPackageManager(
  variables: Readonly<Record<string, string | undefined>>,
): PackageManager {
  const [name] = variables['npm_config_user_agent']?.split('/') ?? []
  return PACKAGE_MANAGERS.find((known) => known === name) ?? 'npm'
}

/** Replaces the commands of npm in a text by those of another package manager. */
export function translateCommands(packageManager: PackageManager, text: string): string {
  const [from, to] = [COMMANDS.npm, COMMANDS[packageManager]]
  return text
    .replaceAll(from.installInImage, to.installInImage)
    .replaceAll(from.lockFile, to.lockFile)
    .replaceAll(`${from.add} @`, `${to.add} @`)
    .replaceAll(/\bnpm install\b/g, `${packageManager} install`)
    .replaceAll(/\bnpm (?:run )?start\b/g, `${packageManager} run start`)
    .replaceAll(/\bnpm run\b/g, `${packageManager} run`)
    .replaceAll(/\bnpm test\b/g, to.test)
    .replaceAll(/\bnpx tutti\b/g, `${to.exec} tutti`)
}
