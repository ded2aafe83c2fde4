/** Lets a server speak to dashboards, trace viewers and ensembles of AgentEnsemble. */
export { agentEnsemble, type AgentEnsembleOptions } from './agent-ensemble.ts'
