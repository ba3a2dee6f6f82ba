package org.cloister.vm.controller;

import java.nio.file.Path;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.vm.controller.config.MachineSettings;
import org.cloister.vm.system.daemon.UnitControl;

/**
 * The machine that a controlling VM runs on, and the settings that do not come from its opener.
 *
 * @param crypto libcrypto, with the secret memory of this process
 * @param machineSettings settings that the image's layer fixes; all others come with the unlock or are on the drive
 * @param run agent-vm's folder on tmpfs
 * @param etc {@code /etc}, which is in memory
 */
public record ControllerEnvironment(
        ProcessRunner programs,
        LibCryptoCalls crypto,
        Cryptsetup cryptsetup,
        UnitControl services,
        MachineSettings machineSettings,
        ControllerMetrics metrics,
        Path run,
        Path etc,
        EspMode esp) {}
