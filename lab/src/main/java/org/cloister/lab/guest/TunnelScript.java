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
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Certificate;
import org.cloister.ipsec.Credential;
import org.cloister.ipsec.Crl;
import org.cloister.ipsec.Esp;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Lifetimes;
import org.cloister.ipsec.Peer;
import org.cloister.ipsec.Plan;
import org.cloister.ipsec.TunnelEvent;
import org.cloister.ipsec.vici.Secret;
import org.cloister.lab.TunnelEnd;

/**
 * Keeps a guest's tunnels on the kernel's ESP and prints what becomes of them. Each line of its input is a plan of one
 * peer: own role, id and credential, the peer's role, id and start, {@code short} or {@code default} lifetimes, and
 * what becomes of it: {@code accept}, {@code list} to read the list of the revoked too, or {@code revoke} to take the peer
 * out besides.
 */
public final class TunnelScript {
    /** Holds {@code NAME.crt} and {@code NAME.key} for each credential, {@code ca0.crt} and so on, and {@code revoked.crl}. */
    public static final String FOLDER = "/run/tunnel";

    public static final String SOCKET = "/run/charon.vici";
    private static final Path REVOKED = Path.of(FOLDER, "revoked.crl");
    /** Keys are renewed while somebody looks. */
    private static final Lifetimes SHORT =
            new Lifetimes(Duration.ofSeconds(4), Duration.ofSeconds(8), Duration.ofMinutes(10));

    private TunnelScript() {}

    /** @param args own address and the peer's */
    public static void main(String[] args) throws IOException {
        BufferedReader steps = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (TunnelEnd end = new TunnelEnd(Path.of(SOCKET), TunnelScript::print)) {
            System.out.println("ready");
            for (String step = steps.readLine(); step != null; step = steps.readLine()) {
                end.tell(plan(step.split(" ", -1), new Address(args[0]), new Address(args[1])));
                System.out.println("told " + step);
            }
        }
    }

    private static void print(TunnelEvent event) {
        System.out.println(event);
    }

    private static Plan plan(String[] words, Address own, Address there) throws IOException {
        Path folder = Path.of(FOLDER);
        List<Certificate> authorities = new ArrayList<>();
        for (int i = 0; Files.exists(folder.resolve("ca" + i + ".crt")); i++) {
            authorities.add(Certificate.parse(Files.readAllBytes(folder.resolve("ca" + i + ".crt"))));
        }
        Certificate certificate = Certificate.parse(Files.readAllBytes(folder.resolve(words[2] + ".crt")));
        Credential credential = new Credential(certificate, key(folder.resolve(words[2] + ".key")));
        Peer peer = new Peer(words[4], new Identity(words[4], words[3], "a"), there, Peer.Start.valueOf(words[5]));
        Plan plan = Plan.of(new Identity(words[1], words[0], "a"), own, credential, authorities, Esp.KERNEL)
                .with(List.of(peer))
                .with(words[6].equals("short") ? SHORT : Lifetimes.DEFAULT);
        if (words[7].equals("accept")) {
            return plan;
        }
        Set<String> out = words[7].equals("revoke") ? Set.of(peer.name()) : Set.of();
        return plan.revoking(out, List.of(Crl.parse(Files.readAllBytes(REVOKED))));
    }

    private static Secret key(Path file) throws IOException {
        int length = Math.toIntExact(Files.size(file));
        return new Secret() {
            @Override
            public int length() {
                return length;
            }

            @Override
            public void writeTo(ByteBuffer target) {
                try (FileChannel channel = FileChannel.open(file)) {
                    while (target.hasRemaining() && channel.read(target) >= 0) {
                        // until all is there
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        };
    }
}
