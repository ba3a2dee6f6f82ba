package org.cloister.vm.controller;

import java.util.function.Consumer;

/**
 * Ends this VM permanently. Each function may be called more than once, with a reason for the log.
 *
 * @param shutDown ends the VM after an orderly release of its resources
 * @param cutPower ends it as a power failure would: nothing more is written, possibly not even the log
 */
public record VmShutdown(Consumer<String> shutDown, Consumer<String> cutPower) {
    public void shutDown(String why) {
        shutDown.accept(why);
    }

    public void cutPower(String why) {
        cutPower.accept(why);
    }
}
