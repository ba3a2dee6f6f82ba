package org.cloister.ctl.opening;

/** Prints a message when a signal (SIGINT, SIGTERM, SIGHUP) ends the process, about what continues without it. */
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
            // The message is being printed, and the process ends.
            return;
        }
    }
}
