package org.cloister.ipsec;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.cloister.ipsec.vici.Message;
import org.cloister.ipsec.vici.Reply;
import org.cloister.ipsec.vici.ViciClient;
import org.jspecify.annotations.Nullable;

/** Certificates, lists of revoked ones and the key that charon has of us. Only on the event loop. */
final class Credentials {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    private final ViciClient client;
    private final Set<String> formerKeys = new HashSet<>();
    private @Nullable Credential credential;
    private @Nullable String keyId;
    private @Nullable List<Certificate> authorities;
    private @Nullable List<Crl> revoked;
    private CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

    Credentials(ViciClient client) {
        this.client = client;
    }

    /** charon may be another one, without any of it. */
    void forget() {
        credential = null;
        authorities = null;
        revoked = null;
    }

    /** What charon has not yet: everything is there before a connection that needs it. */
    CompletableFuture<Void> load(Plan plan) {
        List<CompletableFuture<?>> calls = new ArrayList<>();
        if (!plan.authorities().equals(authorities)) {
            plan.authorities().forEach(each -> calls.add(certificate("X509", "CA", each.der())));
        }
        if (!plan.credential().equals(credential)) {
            calls.add(
                    certificate("X509", "NONE", plan.credential().certificate().der()));
            calls.add(key(plan.credential()));
        }
        if (!plan.revoked().equals(revoked)) {
            plan.revoked().forEach(each -> calls.add(certificate("X509_CRL", "NONE", each.der())));
            // What was found good before the list came must be looked at again.
            calls.add(client.succeed("flush-certs", Message.empty(), LIMIT));
        }
        last = CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).thenRun(() -> {
            credential = plan.credential();
            authorities = plan.authorities();
            revoked = plan.revoked();
        });
        return last;
    }

    /** What became of the last {@link #load}. */
    CompletableFuture<Void> last() {
        return last;
    }

    /** Keys of certificates that no tunnel was made with any more. */
    CompletableFuture<Reply> unloadFormer() {
        CompletableFuture<Reply> last = CompletableFuture.completedFuture(new Reply(Message.empty(), List.of()));
        for (String id : formerKeys) {
            last = client.call("unload-key", Message.empty().with("id", id), LIMIT);
        }
        formerKeys.clear();
        return last;
    }

    private CompletableFuture<Reply> key(Credential owner) {
        return client.loadKey(owner.key(), LIMIT)
                .thenCompose(reply -> ViciClient.requireSuccess("load-key", reply))
                .thenApply(reply -> {
                    String id = reply.message().text("id", "");
                    formerKeys.remove(id);
                    if (keyId != null && !keyId.equals(id)) {
                        formerKeys.add(keyId);
                    }
                    keyId = id;
                    return reply;
                });
    }

    private CompletableFuture<Reply> certificate(String type, String flag, byte[] der) {
        Message request = Message.empty().with("type", type).with("flag", flag).with("data", new Message.Value(der));
        return client.succeed("load-cert", request, LIMIT);
    }
}
