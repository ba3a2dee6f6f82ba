package org.cloister.ovs.dns;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A name server on 127.0.0.1, RFC 1035, and a gateway's lookups on the same machine, printed. */
final class NameServer {
    private static final Map<String, List<String>> ZONE = Map.of(
            "licence.example", List.of("192.0.2.8", "192.0.2.7", "2001:db8::7"),
            "six.example", List.of("2001:db8::7"),
            "forged.example", List.of("127.0.0.1"),
            "rebound.example", List.of("192.0.2.9", "10.77.0.5"));
    private static final int PORT = 53;
    private static final int A = 1;
    private static final int AAAA = 28;
    private static final int NO_SUCH_NAME = 3;

    private NameServer() {}

    public static void main(String[] args) throws IOException {
        DatagramSocket socket = new DatagramSocket(PORT, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
        Thread server = new Thread(() -> serve(socket), "names");
        server.setDaemon(true);
        server.start();
        ResolvedNames names = new ResolvedNames(
                NameAnswerPolicy.of(Set.of(AddressPrefix.parse("10.77.0.0/16")), Set.of()),
                List.of(
                        NamedEgressDestination.parse("licence.example:tcp:27000"),
                        NamedEgressDestination.parse("six.example:tcp:27000"),
                        NamedEgressDestination.parse("forged.example:tcp:27000"),
                        NamedEgressDestination.parse("rebound.example:tcp:27000"),
                        NamedEgressDestination.parse("missing.example:tcp:27000"),
                        NamedEgressDestination.parse("local.example:tcp:27000"),
                        NamedEgressDestination.parse("gateway.example:tcp:27000")));
        NameResolver resolver = new SystemNameResolver();
        long now = 0;
        for (HostName name : names.due(now)) {
            try {
                names.onAnswer(name, resolver.resolve(name), now);
            } catch (NameRefusedException e) {
                names.onFailure(name, now);
                String had = String.valueOf(e.getMessage()).replaceAll(".*have ([^;]*);.*", "$1");
                System.out.println("refused: " + name + ": have " + had);
            }
        }
        System.out.print(names.hosts(now));
    }

    private static void serve(DatagramSocket socket) {
        try {
            while (true) {
                DatagramPacket query = new DatagramPacket(new byte[512], 512);
                socket.receive(query);
                byte[] answer = answer(query.getData());
                socket.send(new DatagramPacket(answer, answer.length, query.getSocketAddress()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] answer(byte[] query) throws UnknownHostException {
        ByteBuffer question = ByteBuffer.wrap(query);
        short id = question.getShort();
        question.position(12);
        StringBuilder name = new StringBuilder();
        for (int length = question.get(); length > 0; length = question.get()) {
            byte[] label = new byte[length];
            question.get(label);
            name.append(name.length() == 0 ? "" : ".").append(new String(label, StandardCharsets.US_ASCII));
        }
        int type = question.getShort();
        int end = question.position() + 2;
        List<String> known = ZONE.get(name.toString());
        ByteBuffer answer = ByteBuffer.allocate(512);
        answer.putShort(id).putShort((short) (0x8580 | (known == null ? NO_SUCH_NAME : 0)));
        answer.putShort((short) 1).putShort((short) 0).putInt(0);
        answer.put(query, 12, end - 12);
        short count = 0;
        for (String text : known == null ? List.<String>of() : known) {
            byte[] address = InetAddress.getByName(text).getAddress();
            if (type == (address.length == 4 ? A : AAAA)) {
                answer.putShort((short) 0xc00c).putShort((short) type).putShort((short) 1);
                answer.putInt(60).putShort((short) address.length).put(address);
                count++;
            }
        }
        answer.putShort(6, count);
        byte[] bytes = new byte[answer.position()];
        answer.flip().get(bytes);
        return bytes;
    }
}
