package org.cloister.luks.volume;

import static org.cloister.luks.volume.LibCryptsetup.CRYPT_ANY_TOKEN;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_LUKS2;
import static org.cloister.luks.volume.LibCryptsetup.CRYPT_TOKEN_INACTIVE;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import jnr.ffi.byref.PointerByReference;
import org.cloister.luks.volume.VolumeException.BadMetadata;
import org.cloister.luks.volume.VolumeException.Fault;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of a volume's header. Each change is written to both copies of the header, the first before the second, so
 * that a kill leaves the old or the new one.
 */
public final class LuksTokens {
    /**
     * Maximum length in bytes. A header that {@link Cryptsetup#create} made has 60 KiB for slots and tokens together,
     * others often 12 KiB.
     */
    public static final int MAX_LENGTH = 12 << 10;

    private final CryptsetupLibrary library;
    private final LuksVolume volume;

    LuksTokens(CryptsetupLibrary library, LuksVolume volume) {
        this.library = library;
        this.volume = volume;
    }

    public List<LuksToken> all() throws VolumeException {
        List<Integer> used = used();
        List<LuksToken> tokens = new ArrayList<>(used.size());
        for (int number : used) {
            tokens.add(new LuksToken(number, json(number)));
        }
        return List.copyOf(tokens);
    }

    /** @return its number */
    public int add(String json) throws VolumeException {
        return set(CRYPT_ANY_TOKEN, requireLength(json));
    }

    public void replace(int number, String json) throws VolumeException {
        set(number, requireLength(json));
    }

    public void remove(int number) throws VolumeException {
        set(number, null);
    }

    /**
     * Returns the drive's epoch: how often it has been opened for writing. Empty for a volume without an epoch.
     *
     * @throws BadMetadata when there are two, or one that {@link EpochToken} rejects
     */
    public OptionalLong epoch() throws VolumeException {
        @Nullable LuksToken token = epochToken();
        return token == null ? OptionalLong.empty() : OptionalLong.of(epochOf(token));
    }

    /** Writes a higher epoch. */
    public void raiseEpoch(long epoch) throws VolumeException {
        @Nullable LuksToken token = epochToken();
        long present = token == null ? 0 : epochOf(token);
        if (epoch <= present) {
            throw new BadMetadata(own(), "an epoch above " + present, Long.toString(epoch));
        }
        String json = EpochToken.json(epoch);
        if (token == null) {
            add(json);
        } else {
            replace(token.number(), json);
        }
    }

    private @Nullable LuksToken epochToken() throws VolumeException {
        LuksToken found = null;
        for (LuksToken token : all()) {
            if (EpochToken.isOne(token.json())) {
                if (found != null) {
                    throw new BadMetadata(own(), "one epoch", "tokens " + found.number() + " and " + token.number());
                }
                found = token;
            }
        }
        return found;
    }

    private long epochOf(LuksToken token) throws BadMetadata {
        OptionalLong epoch = EpochToken.parse(token.json());
        if (epoch.isEmpty()) {
            throw new BadMetadata(own(), "an epoch of 1 or more in token " + token.number(), "something else");
        }
        return epoch.getAsLong();
    }

    private List<Integer> used() throws VolumeException {
        List<Integer> used = new ArrayList<>();
        for (int number :
                IntStream.range(0, library.lib().crypt_token_max(CRYPT_LUKS2)).toArray()) {
            if (volume.call("crypt_token_status", cd -> library.lib().crypt_token_status(cd, number, null))
                    > CRYPT_TOKEN_INACTIVE) {
                used.add(number);
            }
        }
        return used;
    }

    private String json(int number) throws VolumeException {
        PointerByReference json = new PointerByReference();
        volume.call("crypt_token_json_get", cd -> library.lib().crypt_token_json_get(cd, number, json));
        return json.getValue().getString(0, 1 << 22, StandardCharsets.UTF_8);
    }

    private int set(int number, @Nullable String json) throws VolumeException {
        return volume.call("crypt_token_json_set", cd -> library.lib().crypt_token_json_set(cd, number, json));
    }

    private String requireLength(String json) throws BadMetadata {
        int length = json.getBytes(StandardCharsets.UTF_8).length;
        if (length > MAX_LENGTH || json.indexOf('\0') >= 0) {
            throw new BadMetadata(own(), "a token of at most " + MAX_LENGTH + " bytes without NUL", length + " bytes");
        }
        return json;
    }

    private Fault own() {
        return Fault.own("crypt_token_json_set", volume.device());
    }
}
