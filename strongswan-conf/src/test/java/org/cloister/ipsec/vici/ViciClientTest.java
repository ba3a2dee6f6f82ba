package org.cloister.ipsec.vici;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.ipsec.CharonHost;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Against the real charon. */
class ViciClientTest {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final EventLoop loop = threads.next();
    private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private CharonHost host = CharonHost.make();
    private ViciClient client =
            new ViciClient(loop, host.socket(), Set.of("log", "ike-updown", "no-such-event"), new RecordedEvents());

    ViciClientTest() throws IOException {}

    private final class RecordedEvents implements ViciClient.Listener {
        @Override
        public void onConnected() {
            messages.add("connected");
        }

        @Override
        public void onEvent(String name, ViciMessage message) {
            if (name.equals("log")) {
                messages.add("log " + message.text("msg"));
            }
        }

        @Override
        public void onLost(IpsecException why) {
            messages.add("lost " + why.getMessage());
        }
    }

    @BeforeEach
    void start() throws Exception {
        host.startCharon();
        client.start();
        receive("connected");
    }

    @AfterEach
    void tearDown() throws Exception {
        client.close();
        threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).get();
        host.close();
    }

    @Test
    void connects_no_more_once_it_is_closed() throws Exception {
        client.close();
        receive("lost");
        // The time of ten attempts.
        assertThat(messages.poll(200, TimeUnit.MILLISECONDS)).isNull();
    }

    @Test
    void asks_and_is_answered_in_the_order_of_asking() throws Exception {
        List<CompletableFuture<ViciReply>> replies = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            replies.add(client.call(i % 2 == 0 ? "version" : "stats", ViciMessage.empty(), LIMIT));
        }
        for (int i = 0; i < 200; i++) {
            ViciMessage answer = replies.get(i).get(5, TimeUnit.SECONDS).message();
            if (i % 2 == 0) {
                assertThat(answer.text("daemon")).isEqualTo("charon-systemd");
            } else {
                assertThat(answer.items("plugins")).contains("kernel-libipsec", "vici");
            }
        }
    }

    @Test
    void streams_what_a_command_lists_and_hears_events() throws Exception {
        for (int i = 0; i < 30; i++) {
            load("peer" + i);
        }
        List<ViciMessage> listed = client.call("list-conns", ViciMessage.empty(), LIMIT).get().stream();
        assertThat(listed).hasSize(30);
        assertThat(listed.get(0).sections().values().iterator().next().items("remote_addrs"))
                .containsExactly("10.9.0.0");
        receive("log added vici connection: peer29");
    }

    @Test
    void what_charon_refuses_is_a_typed_error_with_its_words() {
        assertThatThrownBy(() -> client.callSuccessfully(
                                "unload-conn", ViciMessage.empty().with("name", "nobody"), LIMIT)
                        .get())
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(IpsecException.Refused.class)
                .hasMessageContaining("nobody");
        assertThatThrownBy(() ->
                        client.call("make-coffee", ViciMessage.empty(), LIMIT).get())
                .hasCauseInstanceOf(IpsecException.Refused.class)
                .hasMessageContaining("no such command");
    }

    @Test
    void comes_back_after_charon_was_killed_and_says_what_was_lost() throws Exception {
        host.killCharon();
        receive("lost");
        assertThatThrownBy(
                        () -> client.call("version", ViciMessage.empty(), LIMIT).get())
                .hasCauseInstanceOf(IpsecException.Disconnected.class);
        host.startCharon();
        receive("connected");
        assertThat(client.call("version", ViciMessage.empty(), LIMIT)
                        .get()
                        .message()
                        .text("daemon"))
                .isEqualTo("charon-systemd");
    }

    @Test
    void an_answer_that_is_late_is_a_time_out_for_all_who_wait_and_a_new_connection() throws Exception {
        load("peer");
        ViciMessage endless = ViciMessage.empty().with("child", "net").with("ike", "peer");
        CompletableFuture<ViciReply> one = client.call("initiate", endless, Duration.ofMillis(300));
        CompletableFuture<ViciReply> behind = client.call("stats", ViciMessage.empty(), LIMIT);
        for (CompletableFuture<ViciReply> each : List.of(one, behind)) {
            assertThatThrownBy(() -> each.get(2, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(IpsecException.TimedOut.class)
                    .hasMessageContaining("initiate");
        }
        receive("connected");
    }

    @Test
    void a_key_is_loaded_from_native_memory() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp384r1"));
        PrivateKey key = generator.generateKeyPair().getPrivate();
        PrivateKeySource secret = new PrivateKeySource() {
            @Override
            public int length() {
                return key.getEncoded().length;
            }

            @Override
            public void writeTo(ByteBuffer target) {
                assertThat(target.isDirect()).isTrue();
                target.put(key.getEncoded());
            }
        };
        String id = client.loadKey(secret, LIMIT).get().message().text("id");
        assertThat(id).matches("[0-9a-f]{40}");
        assertThat(client.call("get-keys", ViciMessage.empty(), LIMIT)
                        .get()
                        .message()
                        .items("keys"))
                .containsExactly(id);
    }

    private void load(String name) throws Exception {
        ViciMessage auth = ViciMessage.empty().with("auth", "pubkey");
        ViciMessage connection = ViciMessage.empty()
                .with("version", "2")
                .with("remote_addrs", List.of("10.9.0.0"))
                .with("local", auth.with("id", "me.test"))
                .with("remote", auth.with("id", name + ".test"))
                .with("children", ViciMessage.empty().with("net", ViciMessage.empty()));
        client.callSuccessfully("load-conn", ViciMessage.empty().with(name, connection), LIMIT)
                .get();
    }

    private void receive(String start) throws InterruptedException {
        List<String> before = new ArrayList<>();
        String next;
        do {
            next = messages.poll(10, TimeUnit.SECONDS);
            before.add(String.valueOf(next));
            assertThat(next).as("want %s, heard %s", start, before).isNotNull();
        } while (next == null || !next.startsWith(start));
    }
}
