/** The compatibility packages, as `apps/server` mounts them, for tests that serve or call their protocols. */
import { agentEnsemble } from '../../packages/compat-agentensemble/src/index.ts'
import { peerConnector } from '../../packages/compat-agentensemble/src/connector/index.ts'
import { jamJet } from '../../packages/compat-jamjet/src/index.ts'
import { tasksConnector } from '../../packages/compat-jamjet/src/connector/index.ts'

/** Extensions of a server. */
export const EXTENSIONS = [agentEnsemble(), jamJet()]

/** Connectors of `agentTool`. */
export const CONNECTORS = [tasksConnector, peerConnector]
