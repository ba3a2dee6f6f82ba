package org.cloister.ovs.dns;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The machine's real resolver, asked in a network of its own where {@link NameServer} is the only one who answers. */
@Timeout(60)
class SystemNameResolverTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void names_go_through_dns_and_through_the_hosts_file_and_are_judged() throws Exception {
        Files.writeString(folder.resolve("resolv.conf"), "nameserver 127.0.0.1\noptions timeout:1 attempts:2\n");
        Files.writeString(folder.resolve("hosts"), "192.0.2.40 local.example\n127.0.0.1 gateway.example\n");
        Files.writeString(folder.resolve("nsswitch.conf"), "hosts: files dns\n");
        String script =
                "ip link set lo up && for f in resolv.conf hosts nsswitch.conf; do mount --bind \"$0/$f\" /etc/$f"
                        + " || exit; done && exec \"$@\"";
        Process process = new ProcessBuilder(
                        "unshare",
                        "--net",
                        "--mount",
                        "sh",
                        "-c",
                        script,
                        folder.toString(),
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        NameServer.class.getName())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("out").toFile())
                .start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readString(folder.resolve("out"), StandardCharsets.UTF_8)
                        .lines())
                .containsExactly(
                        "refused: forged.example: have 127.0.0.1",
                        "refused: gateway.example: have 127.0.0.1",
                        "refused: missing.example: have none",
                        "refused: rebound.example: have 10.77.0.5",
                        "refused: six.example: have 1 others",
                        "192.0.2.7 licence.example",
                        "192.0.2.8 licence.example",
                        "192.0.2.40 local.example");
    }
}
