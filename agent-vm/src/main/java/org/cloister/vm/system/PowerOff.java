package org.cloister.vm.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.cloister.base.process.ProcessRunner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The end of this VM, whatever it was for: its host takes it away. May be asked for again. */
public final class PowerOff {
    private static final Logger LOG = LoggerFactory.getLogger(PowerOff.class);

    private static final Path TRIGGER = Path.of("/proc/sysrq-trigger");

    private final ProcessRunner programs;
    private final Path trigger;

    public PowerOff(ProcessRunner programs) {
        this(programs, TRIGGER);
    }

    PowerOff(ProcessRunner programs, Path trigger) {
        this.programs = programs;
        this.trigger = trigger;
    }

    /**
     * By the kernel, which writes no page and ends no process first (its Documentation/admin-guide/sysrq.rst, "o"). Returns before
     * it is off.
     */
    public void forceNow() {
        try {
            Files.writeString(trigger, "o", StandardOpenOption.WRITE);
        } catch (IOException e) {
            LOG.error("VM: not cut off, it goes off in its own time: {}", e.getMessage());
            request();
        }
    }

    /** Returns before it is off. */
    public void request() {
        try {
            programs.runChecked("systemctl", "--no-block", "poweroff");
        } catch (IOException e) {
            LOG.error("VM: does not go off: {}", e.getMessage());
        }
    }
}
