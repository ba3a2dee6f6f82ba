package org.cloister.vm.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.cloister.base.process.ProcessRunner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Powers this VM off, in any role; its host then removes it. May be requested repeatedly. */
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
     * Powers off through the kernel, which writes no page and ends no process first (its
     * Documentation/admin-guide/sysrq.rst, "o"). Returns before the VM is off.
     */
    public void forceNow() {
        try {
            Files.writeString(trigger, "o", StandardOpenOption.WRITE);
        } catch (IOException e) {
            LOG.error("the power cannot be cut: {}; the VM powers off in order", e.getMessage());
            request();
        }
    }

    /** Requests an orderly power-off. Returns before the VM is off. */
    public void request() {
        try {
            programs.runChecked("systemctl", "--no-block", "poweroff");
        } catch (IOException e) {
            LOG.error("the VM cannot be powered off: {}", e.getMessage());
        }
    }
}
