package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What runs the guests' instructions. */
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

    /** Decides once for a lab, by doctor's probe which has KVM run a guest, and notes it in the lab's folder. */
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

    /** What was decided when the lab came up. */
    public static LabAccelerator of(Path labFolder) throws IOException {
        return valueOf(Files.readString(labFolder.resolve(FILE)).strip());
    }
}
