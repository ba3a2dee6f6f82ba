package org.cloister.vm.run;

import java.nio.file.Path;
import org.cloister.ipsec.Esp;
import org.cloister.luks.key.Crypto;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.vm.LocalMachine;
import org.cloister.vm.VmMetrics;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.machine.Services;

/**
 * The machine that a controlling VM is made on, and what it is told apart from its opener.
 *
 * @param crypto with the secrets of this process
 * @param machine what the image's layer fixes; the rest comes with the opening, or is on the drive
 * @param run agent-vm's folder on tmpfs
 * @param etc {@code /etc}, which lies in memory
 */
record Equipment(
        Programs programs,
        Crypto crypto,
        Cryptsetup cryptsetup,
        Services services,
        LocalMachine machine,
        VmMetrics metrics,
        Path run,
        Path etc,
        Esp esp) {}
