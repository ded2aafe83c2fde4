/** Builds the program and the module that `serve()` loads, with the dashboard and the script of `/docs`. */
import { programBuild } from '../../tooling/build/builds.ts'
import { dashboardFiles } from '../../tooling/build/dashboard-files.ts'
import { docsScript } from '../../tooling/build/docs-script.ts'

/** Packages that are loaded only when they are used. */
const LATE = [/^langchain/, /^@langchain\//, /^pg$/, /^@nats-io\//, /^@marcbachmann\/cel-js$/]

/** Packages that config files import, too: bundled into the program, they would be loaded twice. */
const SHARED_WITH_CONFIGS = [/^@tutti\/(?:core|ensemble|protocol)(?:\/|$)/]

const build = programBuild(
  { tutti: 'src/main.ts', 'serve-ensembles': 'src/start/serve-ensembles.ts' },
  [...LATE, ...SHARED_WITH_CONFIGS],
)

export default { ...build, plugins: [build.plugins, docsScript(), dashboardFiles()] }
