package org.cloister.vm.plugin;

import java.io.IOException;
import org.cloister.slurm.Bounded;

/** A plugin that is not installed, or not any more: what was before it is in force. */
public final class PluginRefused extends IOException {
    private static final long serialVersionUID = 1;

    /** @param message what was wrong with it, both values and what to do; up to 400 printable characters */
    public PluginRefused(String message) {
        super(Bounded.printable(message));
    }
}
