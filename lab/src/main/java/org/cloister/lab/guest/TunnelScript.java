package org.cloister.lab.guest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.DerCertificate;
import org.cloister.ipsec.DerRevocationList;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.PinnedPeer;
import org.cloister.ipsec.TunnelCredential;
import org.cloister.ipsec.TunnelEvent;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelKeyLifetimes;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.ipsec.vici.PrivateKeySource;
import org.cloister.lab.TunnelEnd;

/**
 * Keeps a guest's tunnels on the kernel's ESP and prints their events. Each line of its input is a plan of one peer:
 * own role, id and credential, the peer's role, id and start, {@code short} or {@code default} lifetimes, and an
 * action: {@code accept}, {@code list} to load the revocation list too, or {@code revoke} to remove the peer as well.
 */
public final class TunnelScript {
    /**
     * The folder with {@code NAME.crt} and {@code NAME.key} for each credential, {@code ca0.crt} and so on, and
     * {@code revoked.crl}.
     */
    public static final String FOLDER = "/run/tunnel";

    public static final String SOCKET = "/run/charon.vici";
    private static final Path REVOKED = Path.of(FOLDER, "revoked.crl");
    /** Lifetimes short enough for keys to be renewed during a test. */
    private static final TunnelKeyLifetimes SHORT =
            new TunnelKeyLifetimes(Duration.ofSeconds(4), Duration.ofSeconds(8), Duration.ofMinutes(10));

    private TunnelScript() {}

    /** @param args own address and the peer's */
    public static void main(String[] args) throws IOException {
        BufferedReader steps = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (TunnelEnd end = new TunnelEnd(Path.of(SOCKET), TunnelScript::print)) {
            System.out.println("ready");
            for (String step = steps.readLine(); step != null; step = steps.readLine()) {
                end.applyPlan(plan(step.split(" ", -1), new Ipv4Address(args[0]), new Ipv4Address(args[1])));
                System.out.println("told " + step);
            }
        }
    }

    private static void print(TunnelEvent event) {
        System.out.println(event);
    }

    private static TunnelPlan plan(String[] words, Ipv4Address own, Ipv4Address there) throws IOException {
        Path folder = Path.of(FOLDER);
        List<DerCertificate> authorities = new ArrayList<>();
        for (int i = 0; Files.exists(folder.resolve("ca" + i + ".crt")); i++) {
            authorities.add(DerCertificate.parse(Files.readAllBytes(folder.resolve("ca" + i + ".crt"))));
        }
        DerCertificate certificate = DerCertificate.parse(Files.readAllBytes(folder.resolve(words[2] + ".crt")));
        TunnelCredential credential = new TunnelCredential(certificate, key(folder.resolve(words[2] + ".key")));
        PinnedPeer peer = new PinnedPeer(
                words[4], new TunnelIdentity(words[4], words[3], "a"), there, PinnedPeer.Start.valueOf(words[5]));
        TunnelPlan plan = TunnelPlan.of(
                        new TunnelIdentity(words[1], words[0], "a"), own, credential, authorities, EspMode.KERNEL)
                .with(List.of(peer))
                .with(words[6].equals("short") ? SHORT : TunnelKeyLifetimes.DEFAULT);
        if (words[7].equals("accept")) {
            return plan;
        }
        Set<String> out = words[7].equals("revoke") ? Set.of(peer.name()) : Set.of();
        return plan.revoking(out, List.of(DerRevocationList.parse(Files.readAllBytes(REVOKED))));
    }

    private static PrivateKeySource key(Path file) throws IOException {
        int length = Math.toIntExact(Files.size(file));
        return new PrivateKeySource() {
            @Override
            public int length() {
                return length;
            }

            @Override
            public void writeTo(ByteBuffer target) {
                try (FileChannel channel = FileChannel.open(file)) {
                    while (target.hasRemaining() && channel.read(target) >= 0) {
                        // Waits until all files are there.
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
    }
}
