/** Pure: package managers, which one called us, and how each says what npm says. */

/** What a package manager is told. */
interface Words {
  /** Adds a package. */
  readonly add: string
  /** Runs a program of the project. */
  readonly exec: string
  /** Runs the script "test". */
  readonly test: string
  /** Its lock file, and how an image installs by it, with nothing that only developers need. */
  readonly lockFile: string
  readonly installInImage: string
}

const WORDS = {
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
    // "bun test" would be the test runner of Bun.
    test: 'bun run test',
    lockFile: 'bun.lock',
    installInImage: 'npx --yes bun install --production --frozen-lockfile',
  },
} as const satisfies Record<string, Words>

/** A package manager that we know. */
export type PackageManager = keyof typeof WORDS

/** All of them, npm first. */
export const PACKAGE_MANAGERS: readonly PackageManager[] = ['npm', 'pnpm', 'yarn', 'bun']

/** The package manager that started this process, by what it says of itself; npm when nobody says anything. */
export function callingPackageManager(
  variables: Readonly<Record<string, string | undefined>>,
): PackageManager {
  const [name] = variables['npm_config_user_agent']?.split('/') ?? []
  return PACKAGE_MANAGERS.find((known) => known === name) ?? 'npm'
}

/** `text`, which has the words of npm, in those of another package manager. */
export function inWordsOf(packageManager: PackageManager, text: string): string {
  const [from, to] = [WORDS.npm, WORDS[packageManager]]
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
