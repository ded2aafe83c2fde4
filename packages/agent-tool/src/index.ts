/** Any agent as a tool. To define: `agentTool`. */
