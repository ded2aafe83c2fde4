/** Calls agents on the `/tasks` wire, such as those of JamJet. */
export { tasksConnector, type TasksConnectorOptions } from './tasks-connector.ts'
