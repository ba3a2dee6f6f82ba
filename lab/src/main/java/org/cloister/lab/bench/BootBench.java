package org.cloister.lab.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.LabName;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.Poll;
import org.cloister.lab.ProgressLog;
import org.cloister.protocol.image.ImageManifest;

/**
 * Measures the time from the start of the emulator to a line on the console from user space. Ours is a whole image
 * started through libvirt, whose first unit prints the line; the peer is a bare emulator with the same firmware,
 * kernel, memory and processor, whose initramfs has one program that prints it. An earlier image, if the lab's folder
 * has one, is measured beside ours in the same turns, with the size of its files.
 */
final class BootBench implements Benches.Bench {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final LabName NAME = new LabName("bench-boot");
    private static final String REACHED = "cloister: user space";

    @Override
    public void run(LabHome home, int repetitions, BenchFigures figures) throws IOException {
        Path image = home.image("lab").toRealPath();
        Optional<Path> before = home.earlierImage();
        Lab.remove(home, NAME);
        Lab lab = Lab.up(home, NAME, new ProgressLog(System.err));
        try {
            LabHost host = lab.host(1);
            Path initrd = bareInitrd(host);
            double[] ours = new double[repetitions];
            double[] peer = new double[repetitions];
            double[] earlier = new double[repetitions];
            for (int i = 0; i < repetitions; i++) {
                ours[i] = secure(host, image);
                peer[i] = bare(host, image, initrd);
                if (before.isPresent()) {
                    earlier[i] = secure(host, before.get());
                }
            }
            figures.times("userspace", ours, peer);
            figures.alone("size", megabytes(image), "MB");
            if (before.isPresent()) {
                figures.times("userspace_before", ours, earlier);
                figures.peerAlone("size_before", megabytes(before.get()), "MB");
            }
        } finally {
            Lab.remove(home, NAME);
        }
    }

    private static double secure(LabHost host, Path image) throws IOException {
        long from = System.nanoTime();
        try (LabVm vm = host.boot(LabVmSpec.of("bench", image).withVlan(1))) {
            Poll.until(
                    "\"" + REACHED + "\" on the console",
                    LIMIT,
                    "read " + vm.consoleFile(),
                    () -> vm.console().contains(REACHED));
            return seconds(from);
        }
    }

    private static double bare(LabHost host, Path image, Path initrd) throws IOException {
        ImageManifest manifest = ImageManifest.load(image);
        long from = System.nanoTime();
        String console = host.command(
                        "qemu-system-x86_64",
                        "-accel",
                        "tcg,thread=multi",
                        "-machine",
                        "q35",
                        "-cpu",
                        "max,erms=off,fsrm=off",
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

    private static Path bareInitrd(LabHost host) throws IOException {
        Path folder = host.folder("bare");
        try (InputStream source = BootBench.class.getResourceAsStream("bare-init.c")) {
            Files.write(folder.resolve("init.c"), source.readAllBytes());
        }
        String script = "cd \"$1\" && musl-gcc -static -Os -o init init.c && echo init | cpio -o -H newc >bare.img";
        LabCommand.of("sh", "-c", script, "bare", folder.toString()).succeed();
        return folder.resolve("bare.img");
    }

    private static double[] megabytes(Path image) throws IOException {
        try (Stream<Path> files = Files.list(image)) {
            return new double[] {files.mapToLong(file -> file.toFile().length()).sum() / 1e6};
        }
    }

    private static double seconds(long from) {
        return (System.nanoTime() - from) / 1e9;
    }
}
