import { libraryBuild } from '../../tooling/build/builds.ts'
import { docsScript } from '../../tooling/build/docs-script.ts'

const build = libraryBuild()

export default { ...build, plugins: [build.plugins, docsScript()] }
