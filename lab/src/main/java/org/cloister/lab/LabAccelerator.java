package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Accelerator that runs the guests' instructions. */
public enum LabAccelerator {
    KVM("kvm", "host-passthrough"),
    /** QEMU's emulation: everything works, an order of magnitude slower. */
    TCG("qemu", "maximum");

    private static final String FILE = "accelerator";

    private final String domainType;
    private final String cpuMode;

    LabAccelerator(String domainType, String cpuMode) {
        this.domainType = domainType;
        this.cpuMode = cpuMode;
    }

    String domainType() {
        return domainType;
    }

    String cpuMode() {
        return cpuMode;
    }

    /**
     * Chooses once for a lab, with doctor's probe in which KVM runs a guest, and records the choice in the lab's
     * folder.
     */
    static LabAccelerator choose(Path labFolder) throws IOException {
        LabCommand probe = LabCommand.of(
                "java",
                "-cp",
                System.getProperty("java.class.path"),
                "org.cloister.ctl.Agentctl",
                "doctor",
                "--check",
                "kvm");
        LabAccelerator choice = probe.run().exit() == 0 ? KVM : TCG;
        Files.writeString(labFolder.resolve(FILE), choice.name() + "\n");
        return choice;
    }

    /** Returns the choice that was made when the lab started. */
    public static LabAccelerator of(Path labFolder) throws IOException {
        return valueOf(Files.readString(labFolder.resolve(FILE)).strip());
    }
}
