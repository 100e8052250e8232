package safetensors

// metadata reads the value of __metadata__ at i: an object of strings, or null.
func (p *parser) metadata(i, nameAt int) (int, *Error) {
	if p.seenMetadata {
		p.metaFault(KindDuplicateField, nameAt, "__metadata__ occurs twice; the last was taken")
	}
	p.seenMetadata = true
	at := i
	end, err := p.skip(i, 1)
	if err != nil {
		return end, err
	}
	switch p.at(at) {
	case '{':
		p.readMetadata(at)
	case 'n':
		p.header.Metadata = nil
		p.notice(NoticeNullMetadata, "", at, "__metadata__ is null")
	default:
		p.metaFault(KindMetadata, at, "__metadata__ is "+p.kind(at)+", not an object of strings")
	}
	return end, nil
}

// readMetadata takes the pairs of the object at i, whose syntax is known to be
// right.
func (p *parser) readMetadata(at int) {
	metadata := make(map[string]string)
	for i := p.space(at + 1); p.at(i) != '}'; {
		keyAt := i
		key, next, _ := p.str(i)
		i, _ = p.after(next, ':')
		if p.at(i) != '"' {
			p.metaFault(KindMetadata, i, "__metadata__ has the key "+quoteShort(key)+" with "+p.kind(i)+" instead of a string; it was left out")
			i, _ = p.skip(i, 2)
			i = p.nextItem(i)
			continue
		}
		value, next, _ := p.str(i)
		if _, twice := metadata[key]; twice {
			p.notice(NoticeDuplicateKey, key, keyAt, "__metadata__ has the key "+quoteShort(key)+" twice; the last was taken")
		}
		metadata[key] = value
		i = p.nextItem(next)
	}
	p.header.Metadata = metadata
}

func (p *parser) metaFault(kind Kind, i int, detail string) {
	p.metaFaults = append(p.metaFaults, &Error{Kind: kind, Offset: p.base + int64(i), Detail: detail})
}
