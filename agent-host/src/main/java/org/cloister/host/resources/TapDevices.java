package org.cloister.host.resources;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.process.ProcessRunner;
import org.cloister.host.reconcile.HostResource;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.VmResourceNames;
import org.cloister.slurm.LogText;

/**
 * Tap devices of the host that are named as ours. They are created and removed by the program {@code ip} and read from
 * {@code /sys/class/net}. A tap's alias is its owner's mark. Any thread may call.
 */
public final class TapDevices {
    private static final Path DEVICES = Path.of("/sys/class/net");
    private static final int MAX_ALIAS = 256;

    private final Path ip;
    private final Duration limit;

    /** @param limit time limit of one run of the program, which is then killed */
    public TapDevices(Path ip, Duration limit) {
        this.ip = ip;
        this.limit = limit;
    }

    boolean isFree(ResourceOwner owner) {
        return !Files.exists(device(owner), LinkOption.NOFOLLOW_LINKS);
    }

    /** Creates a tap, which persists when the process that has it open ends. */
    void make(ResourceOwner owner, int queues, int mtu) throws IOException {
        String tap = owner.names().tap();
        run(
                "tap " + tap + ": made",
                "tuntap add dev " + tap + " mode tap" + (queues > 1 ? " multi_queue" : ""),
                "link set dev " + tap + " alias " + owner.mark(),
                "link set dev " + tap + " mtu " + mtu + " up");
    }

    /**
     * Lists the devices that are named as our taps. Another program's device may have such a name; a device that is not
     * a tap has no owner.
     */
    Set<HostResource> listResources() throws IOException {
        Set<HostResource> resources = new HashSet<>();
        try (DirectoryStream<Path> devices =
                Files.newDirectoryStream(DEVICES, each -> VmResourceNames.isTap(name(each)))) {
            for (Path each : devices) {
                resources.add(new HostResource(ResourceKind.TAP, name(each), mark(each), true));
            }
        } catch (DirectoryIteratorException e) {
            throw new IOException(DEVICES + ": not read: " + e.getMessage(), e);
        }
        return resources;
    }

    /** Removes the tap; no error if it is gone. */
    void remove(ResourceOwner owner) throws IOException {
        Path device = device(owner);
        if (isFree(owner)) {
            return;
        }
        Optional<ResourceOwner> mark = mark(device);
        boolean isOurs =
                mark.map(owner::equals).orElse(isTap(device) && alias(device).isEmpty());
        if (!isOurs) {
            throw new IOException("device " + name(device) + " is not a tap of VM " + owner.uuid() + " but "
                    + mark.map(other -> "one of VM " + other.uuid()).orElse("another program's")
                    + "; it was not changed");
        }
        try {
            run("tap " + name(device) + ": deletion", "link delete dev " + name(device));
        } catch (IOException e) {
            // Another program may have removed it.
            if (!isFree(owner)) {
                throw e;
            }
        }
    }

    private static Optional<ResourceOwner> mark(Path device) throws IOException {
        return isTap(device) ? ResourceOwner.parse(alias(device)) : Optional.empty();
    }

    /** Returns whether {@code drivers/net/tun.c} made the device: all its devices have this file, and no others do. */
    private static boolean isTap(Path device) {
        return Files.exists(device.resolve("tun_flags"));
    }

    private static String alias(Path device) throws IOException {
        try (InputStream in = Files.newInputStream(device.resolve("ifalias"))) {
            return new String(in.readNBytes(MAX_ALIAS), StandardCharsets.ISO_8859_1).strip();
        } catch (NoSuchFileException e) {
            return "";
        }
    }

    private static Path device(ResourceOwner owner) {
        return DEVICES.resolve(owner.names().tap());
    }

    private static String name(Path device) {
        return device.getFileName().toString();
    }

    /** Runs commands of {@code ip} and stops at the first failure. */
    private void run(String what, String... commands) throws IOException {
        ProcessRunner.Output output;
        try {
            output = ProcessRunner.local()
                    .run(String.join("\n", commands) + "\n", List.of(ip.toString(), "-batch", "-"), limit);
        } catch (ProcessRunner.TimedOut e) {
            throw new IOException(what + ": " + ip + " did not finish within " + limit.toMillis() + " ms", e);
        } catch (IOException e) {
            throw new IOException(what + ": " + e.getMessage(), e);
        }
        if (output.exit() != 0) {
            throw new IOException(what + ": " + ip + ": " + LogText.printable(output.err()));
        }
    }
}
