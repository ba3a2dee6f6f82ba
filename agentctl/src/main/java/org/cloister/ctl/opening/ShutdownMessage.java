package org.cloister.ctl.opening;

/** Says something if the process is told to end (SIGINT, SIGTERM, SIGHUP), for what goes on without it. */
final class ShutdownMessage implements AutoCloseable {
    private final Thread hook;

    private ShutdownMessage(Runnable say) {
        this.hook = new Thread(say, "farewell");
    }

    static ShutdownMessage install(Runnable say) {
        ShutdownMessage set = new ShutdownMessage(say);
        Runtime.getRuntime().addShutdownHook(set.hook);
        return set;
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // It is said, and the process ends.
            return;
        }
    }
}
