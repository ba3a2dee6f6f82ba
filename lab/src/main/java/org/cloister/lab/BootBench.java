package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.cloister.protocol.ImageManifest;

/**
 * From starting the emulator to the first unit of ours in user space, against a bare emulator with the same kernel and
 * the same memory that only reaches its first process; it ends there, since a kernel without a root has nowhere to go.
 */
final class BootBench implements Benches.Bench {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final LabName NAME = new LabName("bench-boot");
    private static final String REACHED = "cloister: user space";

    @Override
    public void run(LabHome home, int rounds, Figures figures) throws IOException {
        Path image = home.image("lab");
        Lab.remove(home, NAME);
        Lab lab = Lab.up(home, NAME, new Steps(System.err));
        try {
            double[] ours = new double[rounds];
            double[] peer = new double[rounds];
            for (int i = 0; i < rounds; i++) {
                ours[i] = secure(lab.host(1), image);
                peer[i] = bare(lab.host(1), image);
            }
            figures.times("userspace", ours, peer);
        } finally {
            Lab.remove(home, NAME);
        }
    }

    private static double secure(Host host, Path image) throws IOException {
        long from = System.nanoTime();
        try (Vm vm = host.boot(VmSpec.of("bench", image).withVlan(1))) {
            vm.awaitRunner();
            return seconds(from);
        }
    }

    /** An initramfs whose only file is a program that says so and powers off. */
    private static double bare(Host host, Path image) throws IOException {
        ImageManifest manifest = ImageManifest.load(image);
        Path folder = image.resolve("bench");
        Path initrd = folder.resolve("bare.img");
        if (!Files.exists(initrd)) {
            throw new LabException("bench boot: no " + initrd, "run lab/setup");
        }
        long from = System.nanoTime();
        String console = host.command(
                        "qemu-system-x86_64",
                        "-accel",
                        "tcg,thread=multi",
                        "-machine",
                        "q35",
                        "-cpu",
                        "max",
                        "-m",
                        "768",
                        "-nodefaults",
                        "-no-user-config",
                        "-display",
                        "none",
                        "-no-reboot",
                        "-serial",
                        "stdio",
                        "-bios",
                        image.resolve(manifest.firmware().name()).toString(),
                        "-kernel",
                        image.resolve(manifest.kernel().name()).toString(),
                        "-initrd",
                        initrd.toString(),
                        "-append",
                        "console=ttyS0 quiet panic=-1")
                .within(LIMIT)
                .succeed();
        double time = seconds(from);
        if (!console.contains(REACHED)) {
            throw new LabException("bench boot: the bare guest said " + List.of(console), "run it by hand");
        }
        return time;
    }

    private static double seconds(long from) {
        return (System.nanoTime() - from) / 1e9;
    }
}
