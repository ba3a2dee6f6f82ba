package org.cloister.lab.guest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Certificate;
import org.cloister.ipsec.Credential;
import org.cloister.ipsec.Esp;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Lifetimes;
import org.cloister.ipsec.Peer;
import org.cloister.ipsec.Plan;
import org.cloister.ipsec.vici.Secret;
import org.cloister.lab.TunnelEnd;

/** Tells a guest's charon of one tunnel on the kernel's ESP, and ends when it is up. charon goes on. */
public final class TunnelScript {
    /** Holds {@code own.crt}, {@code own.key} and {@code ca0.crt}, {@code ca1.crt} and so on, in DER. */
    public static final String FOLDER = "/run/tunnel";

    public static final String SOCKET = "/run/charon.vici";
    private static final Duration LIMIT = Duration.ofMinutes(2);
    /** Keys are renewed while somebody looks. */
    private static final Lifetimes SHORT =
            new Lifetimes(Duration.ofSeconds(4), Duration.ofSeconds(8), Duration.ofMinutes(10));

    private TunnelScript() {}

    /** @param args own role, id and address; the peer's role, id, address and start; {@code short} or {@code default} */
    public static void main(String[] args) throws IOException {
        Identity self = new Identity(args[1], args[0], "a");
        Peer peer = new Peer(
                "peer", new Identity(args[4], args[3], "a"), new Address(args[5]), Peer.Start.valueOf(args[6]));
        Path folder = Path.of(FOLDER);
        List<Certificate> authorities = new ArrayList<>();
        for (int i = 0; Files.exists(folder.resolve("ca" + i + ".crt")); i++) {
            authorities.add(Certificate.parse(Files.readAllBytes(folder.resolve("ca" + i + ".crt"))));
        }
        Certificate certificate = Certificate.parse(Files.readAllBytes(folder.resolve("own.crt")));
        Plan plan = Plan.of(
                        self,
                        new Address(args[2]),
                        new Credential(certificate, key(folder.resolve("own.key"))),
                        authorities,
                        Esp.KERNEL)
                .with(List.of(peer))
                .with(args[7].equals("short") ? SHORT : Lifetimes.DEFAULT);
        try (TunnelEnd end = new TunnelEnd(Path.of(SOCKET))) {
            end.tell(plan);
            end.awaitUp("peer", LIMIT);
        }
        System.out.println("up");
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
