package org.cloister.protocol.channel;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.RelayMessage;

/** What an agent in a test has heard. */
final class Events implements AgentEvents {
    final BlockingQueue<Attachment> attachments = new LinkedBlockingQueue<>();
    final BlockingQueue<Optional<CloseReason>> served = new LinkedBlockingQueue<>();
    final BlockingQueue<ByteString> revocations = new LinkedBlockingQueue<>();
    final BlockingQueue<String> losses = new LinkedBlockingQueue<>();

    final BlockingQueue<Duration> leaves = new LinkedBlockingQueue<>();

    static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        T value = queue.poll(40, TimeUnit.SECONDS);
        if (value == null) {
            throw new AssertionError("nothing came");
        }
        return value;
    }

    @Override
    public void attached(Attachment attachment) {
        attachments.add(attachment);
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {
        served.add(refused);
    }

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {}

    @Override
    public boolean revoked(byte[] signed) {
        revocations.add(ByteString.copyFrom(signed));
        return true;
    }

    @Override
    public void askedToLeave(Duration within) {
        leaves.add(within);
    }

    @Override
    public void lost(String why) {
        losses.add(why);
    }
}
