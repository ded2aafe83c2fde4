/** Where a server keeps its data, and how safely. */
export interface ClusterOptions {
    /** Made when it is not there; below a directory that every user may pass. */
    readonly directory: string;
    /** What is removed when this process is killed. @default directory */
    readonly removed?: string;
    /** Whether a commit waits for the disk, as in real use. */
    readonly durable: boolean;
}
/** A server. */
export interface Cluster {
    /** Of its database `postgres`. */
    readonly url: string;
    start(): Promise<void>;
    /** Ends connections, rolls back what is open, and stops. */
    stop(): Promise<void>;
    /** Stops at once, as in a crash. */
    kill(): Promise<void>;
    /** Stops it and removes its data. */
    remove(): Promise<void>;
}
/** Makes a server and starts it. @throws {Error} with the server's log when it cannot be started. */
export declare function startCluster(options: ClusterOptions): Promise<Cluster>;
